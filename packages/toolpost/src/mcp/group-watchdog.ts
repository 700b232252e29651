import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Writable } from 'node:stream'
import { hasProcessGroups } from '../runtime/platform.ts'
import type { Group } from './process-group.ts'

/** Set in the environment of every server, and so of everything it starts, even if that leaves its process group. */
export const MARK_VARIABLE = 'TOOLPOST_SERVER_ID'

const programMark = randomUUID()
let servers = 0

export function newMark(): string {
  return `${programMark}.${++servers}`
}

/*
 * Reads lines of process groups (`17`) and processes with their start time (`21:4711`); the last line counts. Its stdin ends
 * when this program does, however that happens: it then finds their descendants, gives the servers a second to exit on
 * their own, and kills what is left; on Linux also everything with the mark, wherever it went. A shell script, because it
 * takes only 2 MB and sleeps until then.
 */
const SCRIPT = `
start_of() {
  stat=
  read -r stat <"/proc/$1/stat"
  set -- \${stat##*) }
  start=\${20}
}
all=
while read -r line; do all=$line; done
[ -n "$all" ] || exit 0
next=$all
while [ -n "$next" ]; do
  found=
  for each in $next; do
    for file in /proc/"\${each%:*}"/task/*/children; do
      children=
      read -r children <"$file"
      for pid in $children; do
        start_of "$pid"
        case " $all $found " in *" $pid:$start "*) continue ;; esac
        found="$found $pid:$start"
      done
    done
  done
  all="$all $found"
  next=\${found# }
done
sleep 1
for each in $all; do
  pid=\${each%:*}
  start_of "$pid"
  case $each in
    "$pid") kill -KILL -- "-$pid" ;;
    "$pid:$start") kill -KILL "$pid" ;;
  esac
done
for round in 1 2 3; do
  for file in $(grep -ls -- "$1" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -KILL "\${pid%/environ}"
  done
done
`

interface Watchdog {
  stdin: Writable
  /** Ends it; resolves when it has exited. */
  end(): Promise<void>
}

let watchdog: Watchdog | undefined
let told = ''

/** Keeps these groups, and only these, from outliving this program. Without any, resolves when the watchdog has exited. */
export async function watch(groups: ReadonlySet<Group>): Promise<void> {
  if (!hasProcessGroups) return
  const all = [...groups].flatMap(({ leader, known }) => [
    leader,
    ...[...known].map(([pid, start]) => `${pid}:${start}`),
  ])
  const line = all.join(' ')
  if (line === told) return
  told = line
  if (line !== '') watchdog ??= startWatchdog()
  const current = watchdog
  current?.stdin.write(`${line}\n`)
  if (line !== '') return
  watchdog = undefined
  await current?.end()
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
      // From now on it keeps this process alive until it has exited.
      child.ref()
      stdin.end()
      return gone
    }
    return { stdin, end }
  } catch {
    // No process can be started, so there is nothing to watch either.
    return undefined
  }
}
