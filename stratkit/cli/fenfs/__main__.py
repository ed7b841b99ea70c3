from stratkit.cli.fenfs import main

main()
