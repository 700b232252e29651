import { Writable } from 'node:stream'

const { stdout, stderr } = process
const writeOut = stdout.write.bind(stdout)

// stdout is for JSON-RPC: whatever else is written to it (a `console.log` in a library, say) goes to stderr.
stdout.write = stderr.write.bind(stderr) as typeof stdout.write
const protocolOut = new Writable({
  decodeStrings: false,
  write: (chunk: Uint8Array | string, _encoding, done) => void writeOut(chunk, error => done(error)),
})
// A client that exits closes the pipe.
stdout.on('error', error => protocolOut.destroy(error))

// Everything else is loaded afterwards, so that no module can write to stdout, not even while loading.
void import('./main.ts').then(({ main }) => main(protocolOut))
