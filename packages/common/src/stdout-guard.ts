import { Writable } from 'node:stream'

/**
 * Keeps stdout for JSON-RPC: from now on everything that is written to `process.stdout`, e.g. by a `console.log` in a
 * tool, lands on stderr. The stream that is returned is the only way to stdout.
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
  // A client that is gone closes the pipe: whoever owns the guarded stream hears of it.
  stdout.on('error', error => guarded.destroy(error))
  return guarded
}
