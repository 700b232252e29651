import { ModelError } from '../../models/model-error.ts'
import type { Project } from '../../project/project.ts'
import { grouped } from '../../runtime/grouped.ts'
import { say, type Terminal } from '../terminal.ts'
import type { ChatConversation } from './chat-conversation.ts'

/** What the chat commands need from the project; any of it may be missing. */
export type ChatCommands = Partial<Pick<Project, 'tools' | 'models' | 'clientOf'>>

interface CommandSetup {
  project: ChatCommands
  conversation: ChatConversation
  terminal: Terminal
}

const HELP = `/help          this list
/tools         list the tools
/model         list the models; /model NAME switches to another one
/quit          leave (so do exit, Ctrl-D, and Ctrl-C twice)`

/** Whether a line is a command, not a question. */
export function isCommand(line: string): boolean {
  return /^\/[a-z]+(?:\s|$)/.test(line)
}

/** Runs a command; a mistake is reported and does not end the chat. */
export async function runCommand(line: string, setup: CommandSetup): Promise<void> {
  const { terminal, project } = setup
  const [command = '', ...words] = line.trim().split(/\s+/)
  if (command === '/help') return say(terminal, HELP)
  if (command === '/tools') return say(terminal, toolList(project))
  if (command === '/model') return words[0] ? useModel(words[0], setup) : showModels(setup)
  say(terminal, `unknown command ${command}; expected one of /help, /tools, /model, /quit`)
}

function toolList({ tools }: ChatCommands): string {
  const bySource = grouped(tools?.getTools() ?? [], tool => tools?.originOf(tool)?.server ?? 'local')
  const lines = [...bySource].map(([source, own]) => `${source}: ${own.map(({ name }) => name).join(', ')}`)
  return lines.join('\n') || 'No tools.'
}

async function showModels({ project, conversation, terminal }: CommandSetup): Promise<void> {
  const { model } = conversation
  const models = (await project.models?.()) ?? [model]
  for (const { name, why } of models) say(terminal, `${name === model.name ? '*' : ' '} ${name} (${why})`)
}

async function useModel(name: string, { project, conversation, terminal }: CommandSetup): Promise<void> {
  try {
    const client = await project.clientOf?.(name)
    const found = (await project.models?.())?.find(model => model.name === name)
    if (!client || !found) return say(terminal, `unknown model '${name}'; /model lists the models`)
    conversation.use(client, found)
    say(terminal, `Switched to ${name}`)
  } catch (error) {
    if (!(error instanceof ModelError)) throw error
    say(terminal, error.message)
  }
}
