import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Writable } from 'node:stream'

/** Stands in the environment of every server, and so of whatever it starts: also of what leaves its group. */
export const MARK_VARIABLE = 'TOOLPOST_SERVER_ID'

const programMark = randomUUID()
let servers = 0

/** The mark of one server. */
export function newMark(): string {
  return `${programMark}.${++servers}`
}

/*
 * Reads `+ <group>` and `- <group>`. Its stdin ends when this program does, however that happens: then it gives the
 * servers a second to notice by themselves and kills the groups that are left. On Linux also everything with the mark,
 * wherever it went. A shell, because it takes 2 MB and sleeps until then.
 */
const SCRIPT = `
groups=' '
while read -r change group; do
  case $change in
    +) groups="$groups$group " ;;
    -) groups="\${groups%% $group *} \${groups#* $group }" ;;
  esac
done
[ -n "\${groups# }" ] || exit 0
sleep 1
for group in $groups; do kill -KILL -- "-$group"; done
for round in 1 2 3; do
  for file in $(grep -ls -- "$1" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -KILL "\${pid%/environ}"
  done
done
`

interface Watchdog {
  stdin: Writable
  /** Ends it; resolves when it has. */
  end(): Promise<void>
}

const watched = new Set<number>()
let watchdog: Watchdog | undefined

/** This group must not outlive this program. Starts the watchdog if need be. */
export function watchGroup(group: number): void {
  if (process.platform === 'win32') return
  watched.add(group)
  watchdog ??= startWatchdog()
  watchdog?.stdin.write(`+ ${group}\n`)
}

/** This group is gone. With the last one goes the watchdog: resolves when it has. */
export async function unwatchGroup(group: number): Promise<void> {
  const current = watchdog
  if (!watched.delete(group) || !current) return
  current.stdin.write(`- ${group}\n`)
  if (watched.size > 0) return
  watchdog = undefined
  await current.end()
}

function startWatchdog(): Watchdog | undefined {
  try {
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'toolpost-watchdog', `${MARK_VARIABLE}=${programMark}.`], {
      // Signals that a terminal sends to this program's group must not reach it.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' },
    })
    const gone = new Promise<void>(resolve => {
      child.on('error', () => resolve()).on('exit', () => resolve())
    })
    child.stdin.on('error', () => {})
    child.unref()
    const stdin = child.stdin as Writable & { unref?(): void }
    stdin.unref?.()
    const end = () => {
      // Until now it kept nothing alive; its end is waited for.
      child.ref()
      stdin.end()
      return gone
    }
    return { stdin, end }
  } catch {
    // No process can be started: nothing can be watched, and nothing is left behind by it.
    return undefined
  }
}
