"""What names lead to: imports in all their forms, installed packages, libraries."""
