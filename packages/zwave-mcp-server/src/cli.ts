import { guardStdout } from 'toolpost-common/stdout-guard'

const protocolOut = guardStdout()

// Everything else is loaded after the guard, so that no module can write to stdout, not even while loading.
void import('./main.ts').then(({ main }) => main(protocolOut))
