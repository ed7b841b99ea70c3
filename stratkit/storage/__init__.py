"""Episodes, game records, checkpoints and whole-or-absent files; `formats/` is their contract.

- `atomic`: files that appear whole or not at all, and locks
- `frames`: zstd frames, read one at a time from anything that has bytes
- `episodes`, `columns`: the episode stream (formats/episodes.md)
- `records`: game records (formats/games.md)
- `results`, `pgn`: results that other programs wrote (formats/results.md)
- `checkpoints`: checkpoints and published weights (formats/checkpoint.md, formats/run.md)
- `onnx_file`: policies as ONNX files (formats/onnx.md)
- `tables`, `sets`: policies as tables, and the information sets in their order (formats/table.md)
- `responses`: best responses (formats/response.md)
- `csv_text`: tables that a spreadsheet shows and does not run
- `fields`: what the values of JSON objects may be
- `numbers`: sets of game numbers in bounded memory
"""
