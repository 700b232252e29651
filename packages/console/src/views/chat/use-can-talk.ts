import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { canRecord } from '../../voice/recorder.ts'

/** Whether there is hold to talk at all: somebody to listen, and a browser that records. */
export function useCanTalk(): boolean {
  const hasVoice = useStore(gateway, state => state.model?.voice === true)
  return hasVoice && canRecord()
}
