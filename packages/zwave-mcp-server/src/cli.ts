import { guardStdout } from 'toolpost-common/stdout-guard'

const protocolOut = guardStdout()

// Everything else is loaded only now, so that no module can write to stdout, not even while it is loaded.
void import('./main.ts').then(({ main }) => main(protocolOut))
