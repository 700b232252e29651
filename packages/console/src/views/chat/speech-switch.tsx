import { Icon } from '../../components/icon.tsx'
import { speaking } from '../../state/speaking.ts'
import { useStore } from '../../state/store.ts'
import { useCanTalk } from './use-can-ask.ts'

/** Whether answers to spoken questions are read aloud. */
export function SpeechSwitch() {
  const { available, muted } = useStore(speaking, state => state)
  if (!useCanTalk() || !available) return null
  const label = muted ? 'Read answers to spoken questions aloud' : 'Do not read answers aloud'
  return (
    <button
      type="button"
      className="icon-button"
      onClick={() => speaking.setMuted(!muted)}
      aria-label={label}
      title={label}
    >
      <Icon name={muted ? 'muted' : 'sound'} />
    </button>
  )
}
