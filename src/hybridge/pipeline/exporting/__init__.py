"""From a PyTorch model in Hugging Face's layout to an ONNX file with free batch and length."""
