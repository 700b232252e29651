import { describe, expect, it } from 'vitest'
import { fakeHome, GATEWAY } from '../../test/support/fake-home.ts'

const activate = (scenes?: unknown[]) => {
  const home = fakeHome([{ name: 'Switch One', values: [{ type: 'switch' }] }])
  if (scenes) home.link.receive(`${GATEWAY}/api/_getScenes`, { success: true, result: scenes })
  return home.call('activate_scene', { sceneName: 'party' })
}

describe('activate_scene', () => {
  it('tells a gateway without scenes from one that does not list them', async () => {
    expect(await activate([])).toMatchObject({
      isError: true,
      text: 'There is no scene called "party". The gateway has no scenes.',
    })
    expect(await activate()).toMatchObject({
      isError: true,
      text: 'The scene "party" cannot be activated: the gateway does not list its scenes.',
    })
  })
})
