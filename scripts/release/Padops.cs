using System;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;

namespace Padops.ML.OnnxRuntime.EP
{
    /// <summary>Where the library of padops is, and the names of its execution providers.</summary>
    internal static class PadopsEp
    {
        /// <summary>The path for OrtEnv.RegisterExecutionProviderLibrary and RegisterCustomOpLibraryV2.</summary>
        /// <exception cref="FileNotFoundException">The package has no library for this platform.</exception>
        public static string GetLibraryPath()
        {
            bool windows = RuntimeInformation.IsOSPlatform(OSPlatform.Windows);
            string system = windows ? "win" : RuntimeInformation.IsOSPlatform(OSPlatform.OSX) ? "osx" : "linux";
            string processor = RuntimeInformation.ProcessArchitecture.ToString().ToLowerInvariant();
            string name = windows ? "libpadops.dll" : "libpadops.so";
            string folder = AppContext.BaseDirectory;
            string[] places =
            {
                Path.Combine(folder, name),
                Path.Combine(folder, "runtimes", system + "-" + processor, "native", name),
            };
            return places.FirstOrDefault(File.Exists)
                ?? throw new FileNotFoundException("there is no library of padops: " + string.Join(", ", places));
        }

        /// <summary>The provider that runs the Pads of models as they are.</summary>
        public static string GetEpName() => GetEpNames()[0];

        /// <summary>All providers of the library.</summary>
        public static string[] GetEpNames() => new[] { @NAMES@ };
    }
}
