"""Our costs against those of genai-prices and LiteLLM, as ``make costs`` compares."""
