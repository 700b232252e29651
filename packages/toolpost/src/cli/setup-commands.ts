import type { Command } from 'commander'
import type { AddFlags, EditContext } from './commands/add.ts'
import type { InitFlags } from './commands/init.ts'
import type { ServiceFlags } from './commands/service.ts'
import type { CommandContext, GlobalOptions, Within } from './context.ts'

/** The commands that set things up: the configuration, the shell, the service, generated code. */
export function addSetupCommands(
  program: Command,
  { terminal, stop, within }: Pick<CommandContext, 'terminal' | 'stop'> & { within: Within },
): void {
  /** For a command that changes the configuration, which may be missing or broken. */
  const editing = async (command: (context: EditContext) => Promise<number>) => {
    process.exitCode = await command({ options: program.opts<GlobalOptions>(), terminal, stop })
  }
  program
    .command('init')
    .description('write a toolpost.json here, with the MCP servers that other programs on this machine have')
    .option('-y, --yes', 'ask nothing')
    .action((flags: InitFlags) =>
      editing(async context => (await import('./commands/init.ts')).writeConfig(context, flags)),
    )
  program
    .command('add')
    .description('try an MCP server, and add it to toolpost.json: toolpost add NAME -- command …')
    .argument('<name>')
    .argument('[command...]', 'the program and its arguments, after --')
    .option('--url <address>', 'a server over HTTP instead')
    .option('--env <name=value...>', 'for the program')
    .option('--header <name:value...>', 'for every request')
    .option('--no-check', 'add it without trying it')
    .option('--force', 'replace a server of this name')
    .action((name: string, command: string[], flags: AddFlags) =>
      editing(async context =>
        (await import('./commands/add.ts')).addServer(context, { name, command, flags }),
      ),
    )
  program
    .command('remove')
    .description('take an MCP server out of toolpost.json')
    .argument('<name>')
    .action((name: string) =>
      editing(async context => (await import('./commands/remove.ts')).removeServer(context, name)),
    )
  program
    .command('completion')
    .description('print a completion script for your shell')
    .argument('<shell>', 'bash, zsh or fish')
    .action(async (shell: string) => {
      const { printCompletion } = await import('./commands/completion.ts')
      process.exitCode = printCompletion(program, shell, terminal)
    })
  program
    .command('codegen')
    .description('write typed functions for all tools, which call them through the executor')
    .option('--out <file>', 'where to (default: standard output)')
    .action((flags: { out?: string }) =>
      within(async context => (await import('./commands/codegen.ts')).generateCode(context, flags), {
        looksForItself: true,
      }),
    )
  program
    .command('service')
    .description('run `toolpost up` as a service of systemd: install, status or remove')
    .argument('<action>', 'install, status or remove')
    .option('--name <name>', 'what the service is called', 'toolpost')
    .option('--system', 'a service of the machine instead of your own')
    .option('--user <name>', 'who a service of the machine runs as (default: you)')
    .option('--print', 'show the unit, and install nothing')
    .option('--host <address>', 'as for up')
    .option('--port <number>', 'as for up')
    .option('--voice', 'as for up')
    .action((action: string, flags: ServiceFlags) =>
      within(async context => (await import('./commands/service.ts')).manageService(context, action, flags)),
    )
}
