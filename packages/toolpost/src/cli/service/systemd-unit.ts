export interface UnitOptions {
  /** The program and its arguments, with absolute paths: no shell or npm comes between a signal and the process. */
  command: readonly string[]
  /** The folder of the configuration; the only one a system service may write to. */
  folder: string
  isSystem: boolean
  /** The user a system service runs as. */
  user?: string | undefined
}

/** Ready once the servers have been tried; stopped by SIGTERM, with time for calls in flight. */
const SERVICE = [
  'Type=notify',
  'NotifyAccess=all',
  'KillMode=mixed',
  'TimeoutStartSec=120',
  'TimeoutStopSec=45',
  'Restart=on-failure',
  'RestartSec=2',
  'ExecReload=/bin/kill -HUP $MAINPID',
  'Environment=NODE_ENV=production',
]

/** Works for an unprivileged user service as well. */
const HARDENED = [
  'UMask=0077',
  'NoNewPrivileges=yes',
  'LockPersonality=yes',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  'SystemCallArchitectures=native',
]

/** No `MemoryDenyWriteExecute`, because V8 compiles code; no `PrivateUsers`, because MCP servers may own files. */
const HARDENED_SYSTEM = [
  'ProtectSystem=strict',
  'ProtectHome=read-only',
  'PrivateTmp=yes',
  'ProtectClock=yes',
  'ProtectControlGroups=yes',
  'ProtectHostname=yes',
  'ProtectKernelLogs=yes',
  'ProtectKernelModules=yes',
  'ProtectKernelTunables=yes',
  'ProtectProc=invisible',
  'RestrictNamespaces=yes',
  'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK',
  'CapabilityBoundingSet=',
]

/** The text of a systemd unit that runs `toolpost up`. */
export function systemdUnit({ command, folder, isSystem, user }: UnitOptions): string {
  const own = isSystem ? [...HARDENED_SYSTEM, `ReadWritePaths=${pathValue(folder)}`] : []
  const runsAs = isSystem && user !== undefined ? [`User=${user}`] : []
  const sections = [
    ['[Unit]', 'Description=Toolpost: executes the tool calls of AI models', 'After=network-online.target'],
    [
      '[Service]',
      `ExecStart=${command.map(quoted).join(' ')}`,
      `WorkingDirectory=${pathValue(folder)}`,
      ...runsAs,
      ...SERVICE,
      // Secrets that the configuration refers to as ${VARIABLES}.
      `EnvironmentFile=-${pathValue(`${folder}/.env`)}`,
      ...HARDENED,
      ...own,
    ],
    ['[Install]', `WantedBy=${isSystem ? 'multi-user.target' : 'default.target'}`],
  ]
  return `${sections.map(lines => lines.join('\n')).join('\n\n')}\n`
}

/** Quotes a word of a command line: `%` and `$` are special to systemd. */
function quoted(word: string): string {
  const escaped = word
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('%', '%%')
    .replaceAll('$', '$$$$')
  return /^[\w@%+=:,./-]+$/.test(word) ? escaped : `"${escaped}"`
}

/** Paths in settings are not quoted. */
function pathValue(path: string): string {
  return path.replaceAll('%', '%%')
}
