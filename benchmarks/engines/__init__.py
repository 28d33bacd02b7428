"""llama.cpp and ONNX Runtime GenAI, the same model in both."""
