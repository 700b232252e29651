import { useEffect, useRef, useState } from 'react'
import type { ServerStatus } from 'toolpost/gateway'
import { TextBlock } from '../../components/code-block.tsx'
import { oneLine } from '../../text/visible-text.ts'

/** The tail of a server's stderr; when followed, it scrolls along with new output. */
export function Stderr({ server }: { server: ServerStatus }) {
  const [isFollowed, setFollowed] = useState(true)
  const box = useRef<HTMLDivElement>(null)
  const { stderr } = server
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever there is more output
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
