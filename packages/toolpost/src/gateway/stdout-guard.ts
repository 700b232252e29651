import { Writable } from 'node:stream'

/**
 * Reserves stdout for JSON-RPC: from now on, whatever is written to `process.stdout` (a `console.log` in a tool, say)
 * goes to stderr. Only the returned stream still writes to stdout.
 */
export function guardStdout(
  stdout: NodeJS.WriteStream = process.stdout,
  stderr: NodeJS.WriteStream = process.stderr,
): Writable {
  const writeOut = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write
  const guarded = new Writable({
    decodeStrings: false,
    write: (chunk: Uint8Array | string, _encoding, done) => {
      writeOut(chunk, error => done(error))
    },
  })
  // A client that exits closes the pipe: pass the error on to the owner of the guarded stream.
  stdout.on('error', error => guarded.destroy(error))
  return guarded
}
