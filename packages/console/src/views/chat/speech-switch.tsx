import { IconButton } from '../../components/button.tsx'
import { speaking } from '../../state/speaking.ts'
import { useStore } from '../../state/store.ts'
import { useCanTalk } from './use-can-ask.ts'

/** Whether answers to spoken questions are read aloud. */
export function SpeechSwitch() {
  const { available, muted } = useStore(speaking, state => state)
  if (!useCanTalk() || !available) return null
  const label = muted ? 'Read answers to spoken questions aloud' : 'Do not read answers aloud'
  return (
    <IconButton icon={muted ? 'muted' : 'sound'} label={label} onClick={() => speaking.setMuted(!muted)} />
  )
}
