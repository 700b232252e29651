import { useEffect, useRef } from 'react'
import { Button } from '../../components/button.tsx'
import { useNow } from '../../components/use-now.ts'
import { useStore } from '../../state/store.ts'
import { talk } from '../../state/talk.ts'
import { visibleText } from '../../text/visible-text.ts'

const WORDS = {
  opening: 'Opening the microphone …',
  recording: 'Recording',
  transcribing: 'Transcribing …',
}

/** The state of a recording, on screen and for screen readers. */
export function TalkStatus() {
  const { phase, startedAt, notice } = useStore(talk, state => state)
  return (
    <div className={`talk-status ${phase === 'idle' && notice !== undefined ? 'talk-notice' : ''}`}>
      {phase === 'recording' && <span className="talk-dot" aria-hidden="true" />}
      {phase === 'transcribing' && <span className="spinner" aria-hidden="true" />}
      {/* Always rendered: screen readers announce changes only in existing regions. */}
      <p role="status">{phase === 'idle' ? visibleText(notice ?? '') : WORDS[phase]}</p>
      {phase === 'recording' && <Progress startedAt={startedAt} />}
      {phase === 'transcribing' && (
        <Button look="quiet" onClick={() => talk.cancel()}>
          Cancel
        </Button>
      )}
    </div>
  )
}

/** Not for screen readers, which would read out every second. */
function Progress({ startedAt }: { startedAt: number }) {
  const seconds = Math.max(0, useNow(100) - startedAt) / 1_000
  return (
    <span className="talk-progress" aria-hidden="true">
      <span className="figure">{seconds.toFixed(1)} s</span>
      <LevelMeter />
      <span className="muted talk-help">
        Release to send; slide off <span className="talk-escape">or press Escape </span>to discard
      </span>
    </span>
  )
}

/** Moves with the voice. Drawn outside React, to avoid a render every frame. */
function LevelMeter() {
  const bar = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    const draw = () => {
      bar.current?.style.setProperty('--level', talk.level().toFixed(3))
      frame = requestAnimationFrame(draw)
    }
    let frame = requestAnimationFrame(draw)
    return () => cancelAnimationFrame(frame)
  }, [])
  return <span ref={bar} className="level-meter" />
}
