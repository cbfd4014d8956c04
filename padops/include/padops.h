/* For programs in C and C++ that register the library of padops in ONNX Runtime: the names by which it is known there.
   find_package(padops) in CMake brings this header, and PADOPS_LIBRARY, the path of the library. */
#ifndef PADOPS_H
#define PADOPS_H

/* The domain of the operators in a converted model. OrtApi::RegisterCustomOpsLibrary_V2(options, PADOPS_LIBRARY) brings
   them into sessions; from onnxruntime 1.24.1 on, the provider of operators does, too. */
#define PADOPS_DOMAIN "padops"

/* The execution providers, after OrtApi::RegisterExecutionProviderLibrary(env, NAME, PADOPS_LIBRARY): */
#define PADOPS_EXECUTION_PROVIDER "PadopsExecutionProvider"                    /* runs the Pads that others leave */
#define PADOPS_FIRST_EXECUTION_PROVIDER "PadopsFirstExecutionProvider"         /* stands before another provider */
#define PADOPS_OPERATORS_EXECUTION_PROVIDER "PadopsOperatorsExecutionProvider" /* brings the operators */

#endif
