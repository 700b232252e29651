import { type KeyboardEvent, type MouseEvent, type PointerEvent, useEffect } from 'react'
import { Button } from '../../components/button.tsx'
import { speaking } from '../../state/speaking.ts'
import { useStore } from '../../state/store.ts'
import { talk } from '../../state/talk.ts'

/** A finger may slip this far off the button before the recording is discarded. */
const SLACK_PX = 28

/** Records while held, with a pointer or a key. */
export function TalkButton({ canAsk }: { canAsk: boolean }) {
  const phase = useStore(talk, state => state.phase)
  const isHeld = phase === 'opening' || phase === 'recording'
  useDiscarding(isHeld)
  const begin = () => {
    if (!canAsk) return
    speaking.stop()
    speaking.unlock()
    void talk.press()
  }
  return (
    <Button
      icon="microphone"
      className="round-button talk-button"
      aria-label={isHeld ? 'Recording: release to send' : 'Hold to talk'}
      aria-pressed={isHeld}
      // Not `disabled`: the button would lose the focus while a key is held.
      aria-disabled={!canAsk && !isHeld}
      title="Hold to talk"
      {...byPointer(begin, isHeld)}
      {...byKey(begin)}
      // A screen reader cannot hold a button: it clicks once to start and once to send.
      onClick={(event: MouseEvent) => event.detail === 0 && (isHeld ? talk.release() : begin())}
      onBlur={() => isHeld && talk.cancel()}
    />
  )
}

function byPointer(begin: () => void, isHeld: boolean) {
  return {
    onPointerDown: (event: PointerEvent) => {
      if (!event.isPrimary || event.button !== 0) return
      event.currentTarget.setPointerCapture(event.pointerId)
      begin()
    },
    onPointerMove: (event: PointerEvent) => isHeld && isOff(event) && talk.cancel(),
    onPointerUp: () => talk.release(),
    onPointerCancel: () => isHeld && talk.cancel(),
    // A long touch would open the context menu.
    onContextMenu: (event: MouseEvent) => event.preventDefault(),
  }
}

function isOff({ currentTarget, clientX, clientY }: PointerEvent): boolean {
  const { left, right, top, bottom } = currentTarget.getBoundingClientRect()
  const isBeside = clientX < left - SLACK_PX || clientX > right + SLACK_PX
  return isBeside || clientY < top - SLACK_PX || clientY > bottom + SLACK_PX
}

/** Keys must not produce clicks here: browsers repeat or delay them while a key is held. */
function byKey(begin: () => void) {
  return {
    onKeyDown: (event: KeyboardEvent) => {
      if (!isPressing(event)) return
      event.preventDefault()
      if (!event.repeat) begin()
    },
    onKeyUp: (event: KeyboardEvent) => {
      if (!isPressing(event)) return
      event.preventDefault()
      talk.release()
    },
  }
}

function isPressing({ key }: KeyboardEvent): boolean {
  return key === ' ' || key === 'Enter'
}

/** Escape, and whatever interrupts the hold, discards the recording. */
function useDiscarding(isHeld: boolean): void {
  useEffect(() => {
    const onEscape = ({ key }: globalThis.KeyboardEvent) => key === 'Escape' && talk.cancel()
    addEventListener('keydown', onEscape)
    return () => removeEventListener('keydown', onEscape)
  }, [])
  useEffect(() => {
    if (!isHeld) return
    const cancel = () => talk.cancel()
    addEventListener('blur', cancel)
    document.addEventListener('visibilitychange', cancel)
    return () => {
      removeEventListener('blur', cancel)
      document.removeEventListener('visibilitychange', cancel)
    }
  }, [isHeld])
  useEffect(() => () => void (isRecording() && talk.cancel()), [])
}

function isRecording(): boolean {
  return ['opening', 'recording'].includes(talk.get().phase)
}
