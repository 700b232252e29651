import { useEffect, useRef, useState } from 'react'
import type { ServerStatus } from 'toolpost/gateway'
import { TextBlock } from '../../components/code-block.tsx'
import { oneLine } from '../../text/visible-text.ts'

/** The end of what a server wrote to stderr; followed, it stays at its end as more comes. */
export function Stderr({ server }: { server: ServerStatus }) {
  const [isFollowed, setFollowed] = useState(true)
  const box = useRef<HTMLDivElement>(null)
  const { stderr } = server
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever more was written
  useEffect(() => {
    const scroller = box.current?.querySelector('.code-scroll') ?? box.current
    if (isFollowed && scroller) scroller.scrollTop = scroller.scrollHeight
  }, [stderr, isFollowed])
  if (stderr.trim() === '') return null
  return (
    <details open={server.state !== 'ready'}>
      <summary>stderr</summary>
      <label className="follow">
        <input type="checkbox" checked={isFollowed} onChange={event => setFollowed(event.target.checked)} />{' '}
        Follow
      </label>
      <div ref={box}>
        <TextBlock text={stderr} label={`stderr of ${oneLine(server.name)}`} className="code-log" />
      </div>
    </details>
  )
}
