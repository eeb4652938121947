"""The named tuples that operators return, `tenon.return_types.max` and so on. Each is made when first returned."""
