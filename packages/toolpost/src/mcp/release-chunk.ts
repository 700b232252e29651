/** A port that leads nowhere. */
const nowhere = new MessageChannel()
nowhere.port2.close()
nowhere.port1.close()

/** Smaller ones are not worth the two microseconds. */
const MIN_BYTES = 16 * 1024

/**
 * Frees the memory of a chunk that was read from a stream, now. Left to itself, V8 collects such chunks only when
 * they amount to more than 32 MB. What is posted to a closed port is taken from the sender and thrown away.
 * The chunk must have a buffer of its own, as those of sockets and pipes do, and is empty afterwards.
 */
export function releaseChunk({ buffer, length }: Buffer): void {
  if (length >= MIN_BYTES && buffer instanceof ArrayBuffer) nowhere.port1.postMessage(null, [buffer])
}
