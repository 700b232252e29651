import { Mic } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { transcribe } from '../../api/gateway.ts'
import { useModel } from '../../api/queries.ts'
import { IconButton, Spinner, useNow } from '../../ui/controls.tsx'
import { attempt } from '../../ui/toast.tsx'
import { canRecord, type Recording, record } from './recorder.ts'

const MAX_RECORDING_MS = 60_000
/** Longer than this, and letting go of the button sends; a click is sent by the next one. */
const HOLD_MS = 500

type Phase = 'idle' | 'opening' | 'recording' | 'transcribing'

/** Speak: hold the button, or click it before and after. Escape discards. Only if the gateway understands speech. */
export function TalkButton({ isBusy, onWords }: { isBusy: boolean; onWords: (words: string) => void }) {
  const { data: model } = useModel()
  const talk = useTalk(onWords)
  if (model?.voice !== true || !canRecord()) return null
  if (talk.phase === 'transcribing') return <Spinner label="Transcribing" />
  const isOn = talk.phase !== 'idle'
  return (
    <>
      {isOn && (
        <span className="self-center text-xs text-bad" role="status">
          {talk.phase === 'opening' ? 'Opening the microphone' : <RecordingTime />}
        </span>
      )}
      <IconButton
        icon={Mic}
        label={isOn ? 'Send the recording' : 'Talk'}
        aria-pressed={isOn}
        disabled={isBusy && !isOn}
        className={isOn ? 'bg-bad-soft !text-bad' : ''}
        onPointerDown={event => {
          if (!event.isPrimary || event.button !== 0) return
          event.currentTarget.setPointerCapture(event.pointerId)
          talk.press()
        }}
        onPointerUp={talk.release}
        // Keys and screen readers click without a pointer.
        onClick={event => event.detail === 0 && talk.press()}
        onContextMenu={event => event.preventDefault()}
      />
    </>
  )
}

function RecordingTime() {
  const [startedAt] = useState(Date.now)
  return `Recording, ${Math.max(0, Math.floor((useNow(250) - startedAt) / 1_000))} s`
}

function useTalk(onWords: (words: string) => void): { phase: Phase; press: () => void; release: () => void } {
  const [phase, setPhase] = useState<Phase>('idle')
  const current = useRef<{ recording?: Recording; startedAt: number; abort: AbortController } | undefined>(
    undefined,
  )
  const discard = () => {
    current.current?.abort.abort()
    current.current?.recording?.discard()
    current.current = undefined
    setPhase('idle')
  }
  const begin = async () => {
    const own = { startedAt: Date.now(), abort: new AbortController() }
    current.current = own
    setPhase('opening')
    const isRecording = await attempt(async () => {
      const recording = await record(discard)
      if (own.abort.signal.aborted) return recording.discard()
      current.current = { ...own, recording, startedAt: Date.now() }
      setPhase('recording')
    })
    if (!isRecording) discard()
  }
  const send = async () => {
    const { recording, abort } = current.current ?? {}
    if (!recording || !abort) return discard()
    setPhase('transcribing')
    await attempt(async () => {
      const words = await transcribe(await recording.finish(), abort.signal)
      if (!abort.signal.aborted) onWords(words)
    })
    discard()
  }
  const latest = useRef({ discard, send })
  latest.current = { discard, send }
  useEffect(() => {
    if (phase === 'idle') return
    const onKey = (event: KeyboardEvent) => event.key === 'Escape' && latest.current.discard()
    const timer =
      phase === 'recording' ? setTimeout(() => void latest.current.send(), MAX_RECORDING_MS) : undefined
    addEventListener('keydown', onKey)
    return () => {
      removeEventListener('keydown', onKey)
      clearTimeout(timer)
    }
  }, [phase])
  useEffect(() => () => latest.current.discard(), [])
  return {
    phase,
    press: () => void (phase === 'idle' ? begin() : phase === 'recording' ? send() : discard()),
    release: () => {
      const { recording, startedAt = 0 } = current.current ?? {}
      if (phase === 'recording' && recording && Date.now() - startedAt > HOLD_MS) void send()
    },
  }
}
