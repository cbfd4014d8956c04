"""An OpenVINO IR of one Pad, which needs no OpenVINO."""

import numpy as np

PAD_IR = """<?xml version="1.0"?>
<net name="m" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="4" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>4</dim></port></output></layer>
<layer id="1" name="n" type="Const" version="opset1"><data element_type="i64" shape="1" offset="0" size="8"/>
<output><port id="0" precision="I64"><dim>1</dim></port></output></layer>
<layer id="2" name="p" type="Pad" version="opset12"><data pad_mode="edge"/>
<input><port id="0" precision="FP32"><dim>4</dim></port><port id="1" precision="I64"><dim>1</dim></port>
<port id="2" precision="I64"><dim>1</dim></port></input>
<output><port id="3" precision="FP32"><dim>6</dim></port></output></layer>
<layer id="3" name="r" type="Result" version="opset1">
<input><port id="0" precision="FP32"><dim>6</dim></port></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="1" from-port="0" to-layer="2" to-port="2"/>
<edge from-layer="2" from-port="3" to-layer="3" to-port="0"/>
</edges></net>
"""
PAD_IR_WEIGHTS = np.array([1], np.int64).tobytes()
