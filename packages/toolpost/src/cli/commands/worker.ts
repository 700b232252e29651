import type { CommandContext } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import { openDurable } from '../require-durable.ts'
import { notifySystemd } from '../service/systemctl.ts'
import { unlessStopped } from '../stop-signals.ts'
import { printResult, say } from '../terminal.ts'
import { announceChanges } from '../up/announcements.ts'

/** `toolpost worker`: runs durable calls with the tools of this machine until stopped; it accepts no calls itself. */
export async function runWorker({ project, stop, terminal }: CommandContext): Promise<number> {
  await unlessStopped(project.answerInputs(), stop.signal)
  const { durable } = await unlessStopped(openDurable(project), stop.signal)
  const following = project.follow()
  stop.onHangup(() => void following.reload())
  await Promise.race([project.ready(), stop.first])
  printResult(terminal, `Worker, ${project.file ?? 'built-in example'}: ${durable.status().text}`)
  printResult(terminal, `${project.tools.getTools().length} tools. Press Ctrl-C to stop.`)
  notifySystemd('--ready')
  const announcements = announceChanges(project, terminal)
  await stop.first
  notifySystemd('STOPPING=1')
  following.stop()
  announcements.stop()
  say(terminal, 'Finishing the runs in progress, for up to ten seconds; other workers take over the rest.')
  await project.closeDurable()
  return EXIT.ok
}
