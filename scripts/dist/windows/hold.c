/* Holds a file open until its own standard input ends, as other programs do under Windows:
   "none" lets no other program open it, "read" lets them read it, as Excel does. */
#include <stdio.h>
#include <string.h>
#include <windows.h>

int main(int argc, char **argv) {
	if (argc != 3) {
		fprintf(stderr, "usage: hold none|read FILE\n");
		return 2;
	}
	DWORD share = strcmp(argv[1], "read") == 0 ? FILE_SHARE_READ : 0;
	HANDLE file = CreateFileA(argv[2], GENERIC_READ, share, NULL, OPEN_EXISTING, 0, NULL);
	if (file == INVALID_HANDLE_VALUE) {
		fprintf(stderr, "hold: %s: error %lu\n", argv[2], GetLastError());
		return 1;
	}
	puts("held");
	fflush(stdout);
	while (getchar() != EOF) {
	}
	return 0;
}
