import type { VoiceConfig } from 'toolpost/config'

export interface Broker {
  url: string
  username?: string | undefined
  password?: string | undefined
  clientId?: string | undefined
}

interface Home {
  brokerUrl: string
}

/** The broker to use: that of the configuration, else of the environment, else of the example home; or none. */
export function chooseBroker(
  config: VoiceConfig['mqtt'],
  home: Home | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): Broker | undefined {
  if (config?.url) return { ...config, url: config.url }
  const { MQTT_BROKER_URL: url, MQTT_USERNAME: username, MQTT_PASSWORD: password } = environment
  if (url) return { username, password, ...config, url }
  return home && { ...config, url: home.brokerUrl }
}
