import { createDraftStore } from '../../../../http/browser/draft-store.ts'

/** The devices that the candidate has chosen in the check, by the ids that the browser gives them on this site. */
type Chosen = Partial<Record<MediaDeviceKind, string>>

/** Questions use the devices chosen in the check, also after a reload if the browser keeps device ids. */
const storedChoice = createDraftStore<Chosen>('devices')
let chosen = storedChoice.read() ?? {}

export const readChosen = (): Chosen => chosen

export function choose(kind: MediaDeviceKind, id: string): void {
  chosen = { ...chosen, [kind]: id }
  storedChoice.write(chosen)
}

/** The chosen device and no other; where none was chosen, any. */
export const chosenOf = (kind: 'audioinput' | 'videoinput'): MediaTrackConstraints => {
  const { [kind]: id } = readChosen()
  return id ? { deviceId: { exact: id } } : {}
}

/** Plays on the chosen output. Without one, or where the browser has no choice of outputs, it plays on the device's own. */
export async function playOnChosen(media: HTMLMediaElement): Promise<void> {
  const { audiooutput: id } = readChosen()
  if (id && 'setSinkId' in media) await media.setSinkId(id).catch(() => {}) // it is gone by now
}
