import { setTimeout as sleep } from 'node:timers/promises'
import { runAs, type ServerUser } from './server-user.ts'
import { countOthers } from './users.ts'

/* Runs as a separate process: stops the embedded server once nobody has been connected to it for two seconds. */

const LOOK_EVERY_MS = 1_000
const UNUSED_LOOKS = 2

const { url, stopCommand, user } = JSON.parse(process.env.TOOLPOST_RELEASE ?? '{}') as {
  url: string
  stopCommand: string[]
  user: ServerUser
}

process.stdin.resume()
await new Promise(resolve => process.stdin.once('close', resolve).once('end', resolve))

for (let unused = 0; unused < UNUSED_LOOKS; ) {
  await sleep(LOOK_EVERY_MS)
  try {
    unused = (await countOthers(new URL(url))) === 0 ? unused + 1 : 0
  } catch {
    // No answer: it was stopped already, or is being restarted for somebody else.
    process.exit()
  }
}
await runAs(user, stopCommand).catch(() => {})
process.exit()
