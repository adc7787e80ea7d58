"""From records to one HTML file, its figures and its tables."""

from snellen.report.page import Report, grade_folder, write

__all__ = ["Report", "grade_folder", "write"]
