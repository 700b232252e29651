import { guardStdout } from './stdout-guard.ts'

const protocolOut = guardStdout()

// Everything else is loaded after the guard, so that no module can write to stdout, not even while loading.
void import('./main.ts').then(({ main }) => main(protocolOut))
