/* Starts a program, waits for a line, and raises an event of its console there, as Windows
   does: 0 is Ctrl-C, 2 that the window is closed. Ends as the program does. */
#include <process.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

int main(int argc, char **argv) {
	if (argc < 3) {
		fprintf(stderr, "usage: console EVENT PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	HANDLE program = (HANDLE)_spawnv(_P_NOWAIT, argv[2], (const char *const *)argv + 2);
	FARPROC raise = GetProcAddress(GetModuleHandleA("kernel32.dll"), "CtrlRoutine");
	if (program == INVALID_HANDLE_VALUE || raise == NULL) {
		fprintf(stderr, "console: %s does not start, or Windows has no CtrlRoutine\n", argv[2]);
		return 2;
	}
	while (getchar() != '\n') {
	}
	void *event = (void *)(intptr_t)atoi(argv[1]);
	if (CreateRemoteThread(program, NULL, 0, (LPTHREAD_START_ROUTINE)raise, event, 0, NULL) == NULL) {
		fprintf(stderr, "console: error %lu\n", GetLastError());
		return 2;
	}
	DWORD code = 2;
	WaitForSingleObject(program, INFINITE);
	GetExitCodeProcess(program, &code);
	return (int)code;
}
