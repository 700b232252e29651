/** 20 × 20, in the colour of the surrounding text. */
const SHAPES = {
  tools: (
    <path d="M12.6 3.2a4.2 4.2 0 0 0-4.5 5.7l-5 5a1.9 1.9 0 0 0 2.8 2.8l5-5a4.2 4.2 0 0 0 5.6-4.6l-2.5 2.4-2.6-.6-.6-2.6z" />
  ),
  calls: <path d="M2.5 10.5h3l2.3-6 4.2 11 2.4-5h3.1" />,
  servers: (
    <>
      <rect x="3" y="3.5" width="14" height="5.5" rx="1.5" />
      <rect x="3" y="11" width="14" height="5.5" rx="1.5" />
      <path d="M6 6.2h.01M6 13.8h.01" />
    </>
  ),
  chat: <path d="M3 5.5A2 2 0 0 1 5 3.5h10a2 2 0 0 1 2 2V12a2 2 0 0 1-2 2H9l-4 3v-3a2 2 0 0 1-2-2z" />,
  search: (
    <>
      <circle cx="9" cy="9" r="5.2" />
      <path d="m13 13 3.8 3.8" />
    </>
  ),
  sun: (
    <>
      <circle cx="10" cy="10" r="3.4" />
      <path d="M10 2.5v1.6M10 15.9v1.6M2.5 10h1.6M15.9 10h1.6M4.7 4.7l1.1 1.1M14.2 14.2l1.1 1.1M15.3 4.7l-1.1 1.1M5.8 14.2l-1.1 1.1" />
    </>
  ),
  moon: <path d="M16.5 11.9A6.8 6.8 0 0 1 8.1 3.5a6.8 6.8 0 1 0 8.4 8.4z" />,
  auto: (
    <>
      <circle cx="10" cy="10" r="6.6" />
      <path d="M10 3.4a6.6 6.6 0 0 1 0 13.2z" fill="currentColor" />
    </>
  ),
  back: <path d="m12 4.5-5.5 5.5 5.5 5.5" />,
  close: <path d="m5 5 10 10M15 5 5 15" />,
  play: <path d="M6.5 4.2v11.6l9-5.8z" fill="currentColor" />,
  stop: <rect x="5.5" y="5.5" width="9" height="9" rx="1.5" fill="currentColor" />,
  send: <path d="M10 16V4.5M5 9.2l5-4.9 5 4.9" />,
  microphone: (
    <>
      <rect x="7.2" y="2.5" width="5.6" height="9.5" rx="2.8" />
      <path d="M4.4 9.4a5.6 5.6 0 0 0 11.2 0M10 15v2.6" />
    </>
  ),
  sound: (
    <path d="M3 7.8v4.4h2.7L9.5 15.5v-11L5.7 7.8zM12.4 7.4a3.7 3.7 0 0 1 0 5.2M14.7 5.2a6.8 6.8 0 0 1 0 9.6" />
  ),
  muted: <path d="M3 7.8v4.4h2.7L9.5 15.5v-11L5.7 7.8zM12.8 7.8l4.4 4.4M17.2 7.8l-4.4 4.4" />,
  check: <path d="m4.5 10.5 3.6 3.6 7.4-8" />,
  clock: (
    <>
      <circle cx="10" cy="10" r="6.8" />
      <path d="M10 6v4.2l2.7 1.6" />
    </>
  ),
  restart: <path d="M15.8 8A6.2 6.2 0 1 0 16 12M16 3.8V8h-4.2" />,
}

export type IconName = keyof typeof SHAPES

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
      {SHAPES[name]}
    </svg>
  )
}
