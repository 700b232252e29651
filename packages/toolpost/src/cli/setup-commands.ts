import type { Command } from 'commander'
import type { AddFlags, EditContext } from './commands/add.ts'
import type { InitFlags } from './commands/init.ts'
import type { ServiceFlags } from './commands/service.ts'
import type { CommandContext, GlobalOptions, Within } from './context.ts'

/** The setup commands: configuration, shell completion, service, generated code. */
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
    .description('write a toolpost.json here, with the MCP servers of other programs on this machine')
    .option('-y, --yes', 'accept all defaults without asking')
    .action((flags: InitFlags) =>
      editing(async context => (await import('./commands/init.ts')).writeConfig(context, flags)),
    )
  program
    .command('add')
    .description('try an MCP server, and add it to toolpost.json: toolpost add NAME -- command …')
    .argument('<name>')
    .argument('[command...]', 'the program and its arguments, after --')
    .option('--url <address>', 'a server over HTTP instead')
    .option('--env <name=value...>', 'environment of the program')
    .option('--header <name:value...>', 'header to send with every request')
    .option('--no-check', 'add it without trying it')
    .option('--force', 'replace a server of this name')
    .action((name: string, command: string[], flags: AddFlags) =>
      editing(async context =>
        (await import('./commands/add.ts')).addServer(context, { name, command, flags }),
      ),
    )
  program
    .command('remove')
    .description('remove an MCP server from toolpost.json')
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
    .description('generate typed functions that call the tools through the executor')
    .option('--out <file>', 'output file (default: standard output)')
    .action((flags: { out?: string }) =>
      within(async context => (await import('./commands/codegen.ts')).generateCode(context, flags), {
        looksForItself: true,
      }),
    )
  program
    .command('service')
    .description('run `toolpost up` as a systemd service: install, status or remove')
    .argument('<action>', 'install, status or remove')
    .option('--name <name>', 'name of the service', 'toolpost')
    .option('--system', 'a system service instead of a user service')
    .option('--user <name>', 'user that a system service runs as (default: you)')
    .option('--print', 'print the unit without installing it')
    .option('--host <address>', 'as for up')
    .option('--port <number>', 'as for up')
    .option('--voice', 'as for up')
    .action((action: string, flags: ServiceFlags) =>
      within(async context => (await import('./commands/service.ts')).manageService(context, action, flags)),
    )
}
