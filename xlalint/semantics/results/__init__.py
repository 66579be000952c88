"""What operators and API calls return: shapes, dtypes, sizes and structures."""
