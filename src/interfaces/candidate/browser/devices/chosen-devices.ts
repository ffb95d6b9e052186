import { createDraftStore } from '../../../../http/browser/draft-store.ts'

/** Ids of the devices chosen in the device check. Browsers assign the ids per site. */
type ChosenDevices = Partial<Record<MediaDeviceKind, string>>

/** Questions use the devices chosen in the check, also after a reload if the browser keeps device ids. */
const storedChoice = createDraftStore<ChosenDevices>('devices')
let chosen = storedChoice.read() ?? {}

export const readChosen = (): ChosenDevices => chosen

export function choose(kind: MediaDeviceKind, id: string): void {
  chosen = { ...chosen, [kind]: id }
  storedChoice.write(chosen)
}

/** Requires the chosen device; any device if none was chosen. */
export const chosenOf = (kind: 'audioinput' | 'videoinput'): MediaTrackConstraints => {
  const { [kind]: id } = readChosen()
  return id ? { deviceId: { exact: id } } : {}
}

/** Plays on the chosen output. Without a choice, or if the browser offers none, plays on the default output. */
export async function playOnChosen(media: HTMLMediaElement): Promise<void> {
  const { audiooutput: id } = readChosen()
  if (id && 'setSinkId' in media) await media.setSinkId(id).catch(() => {}) // the output was disconnected
}
