import { useEffect } from 'react'
import { chosenModel } from '../../state/chosen-model.ts'
import { conversations } from '../../state/conversations.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { oneLine } from '../../text/visible-text.ts'

/** Which model answers, why, and the alternatives. */
export function ModelChoice() {
  const usual = useStore(gateway, state => state.model)
  const isThere = useStore(gateway, state => state.connection.state === 'open')
  const models = useStore(conversations, state => state.models)
  const chosen = useStore(chosenModel, name => name)
  useEffect(() => {
    if (isThere) void conversations.refreshModels()
  }, [isThere])
  const current = models.find(({ name }) => name === chosen) ?? usual
  if (current === undefined) return <p className="model-note" />
  const others = models.filter(({ name }) => name !== usual?.name)
  return (
    <div className="model-note">
      {others.length === 0 ? (
        <strong>{oneLine(current.name, 60)}</strong>
      ) : (
        <select
          aria-label="Model"
          value={chosen ?? ''}
          onChange={event => chosenModel.choose(event.target.value || undefined)}
        >
          <option value="">{oneLine(usual?.name ?? 'automatic', 60)}</option>
          {others.map(({ name }) => (
            <option key={name} value={name}>
              {oneLine(name, 60)}
            </option>
          ))}
        </select>
      )}{' '}
      <span className="muted" title={oneLine(current.why, 200)}>
        {oneLine(current.why, 200)}
      </span>
    </div>
  )
}
