/** Shapes on 20 × 20, drawn as lines in the colour of the surrounding text. */
const LINES = {
  tools:
    'M12.6 3.2a4.2 4.2 0 0 0-4.5 5.7l-5 5a1.9 1.9 0 0 0 2.8 2.8l5-5a4.2 4.2 0 0 0 5.6-4.6l-2.5 2.4-2.6-.6-.6-2.6z',
  calls: 'M2.5 10.5h3l2.3-6 4.2 11 2.4-5h3.1',
  approvals: 'M10 2.6l6 2.2v4.8c0 3.6-2.4 6.3-6 7.6-3.6-1.3-6-4-6-7.6V4.8zM7.3 9.9l1.9 1.9 3.5-3.7',
  servers:
    'M4.5 3.5h11a1.5 1.5 0 0 1 1.5 1.5v2.5a1.5 1.5 0 0 1-1.5 1.5h-11a1.5 1.5 0 0 1-1.5-1.5v-2.5a1.5 1.5 0 0 1 1.5-1.5zM4.5 11h11a1.5 1.5 0 0 1 1.5 1.5v2.5a1.5 1.5 0 0 1-1.5 1.5h-11a1.5 1.5 0 0 1-1.5-1.5v-2.5a1.5 1.5 0 0 1 1.5-1.5zM6 6.2h.01M6 13.8h.01',
  chat: 'M3 5.5A2 2 0 0 1 5 3.5h10a2 2 0 0 1 2 2V12a2 2 0 0 1-2 2H9l-4 3v-3a2 2 0 0 1-2-2z',
  search: 'M3.8 9a5.2 5.2 0 1 0 10.4 0a5.2 5.2 0 1 0-10.4 0M13 13l3.8 3.8',
  sun: 'M6.6 10a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0M10 2.5v1.6M10 15.9v1.6M2.5 10h1.6M15.9 10h1.6M4.7 4.7l1.1 1.1M14.2 14.2l1.1 1.1M15.3 4.7l-1.1 1.1M5.8 14.2l-1.1 1.1',
  moon: 'M16.5 11.9A6.8 6.8 0 0 1 8.1 3.5a6.8 6.8 0 1 0 8.4 8.4z',
  auto: 'M3.4 10a6.6 6.6 0 1 0 13.2 0a6.6 6.6 0 1 0-13.2 0',
  back: 'm12 4.5-5.5 5.5 5.5 5.5',
  close: 'm5 5 10 10M15 5 5 15',
  play: 'M6.5 4.2v11.6l9-5.8z',
  stop: 'M7 5.5h6a1.5 1.5 0 0 1 1.5 1.5v6a1.5 1.5 0 0 1-1.5 1.5h-6a1.5 1.5 0 0 1-1.5-1.5v-6a1.5 1.5 0 0 1 1.5-1.5z',
  send: 'M10 16V4.5M5 9.2l5-4.9 5 4.9',
  microphone:
    'M10 2.5a2.8 2.8 0 0 1 2.8 2.8v3.9a2.8 2.8 0 0 1-5.6 0v-3.9a2.8 2.8 0 0 1 2.8-2.8zM4.4 9.4a5.6 5.6 0 0 0 11.2 0M10 15v2.6',
  sound: 'M3 7.8v4.4h2.7L9.5 15.5v-11L5.7 7.8zM12.4 7.4a3.7 3.7 0 0 1 0 5.2M14.7 5.2a6.8 6.8 0 0 1 0 9.6',
  muted: 'M3 7.8v4.4h2.7L9.5 15.5v-11L5.7 7.8zM12.8 7.8l4.4 4.4M17.2 7.8l-4.4 4.4',
  clock: 'M3.2 10a6.8 6.8 0 1 0 13.6 0a6.8 6.8 0 1 0-13.6 0M10 6v4.2l2.7 1.6',
  restart: 'M15.8 8A6.2 6.2 0 1 0 16 12M16 3.8V8h-4.2',
}

/** What is filled as well. */
const FILLS: Record<string, string> = {
  auto: 'M10 3.4a6.6 6.6 0 0 1 0 13.2z',
  play: LINES.play,
  stop: LINES.stop,
}

export type IconName = keyof typeof LINES

export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      className="icon"
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={LINES[name]} />
      {FILLS[name] && <path d={FILLS[name]} fill="currentColor" />}
    </svg>
  )
}
