import { createElement } from '../../../../http/browser/dom.ts'
import type { CheckTexts } from '../../../../locales/texts.ts'
import { choose, readChosen } from '../devices/chosen-devices.ts'
import type { WantedDevices } from '../devices/devices.ts'

const LABELS = {
  videoinput: 'choose.camera',
  audioinput: 'choose.microphone',
  audiooutput: 'choose.output',
} as const satisfies Record<MediaDeviceKind, string>

/**
 * Lists the devices that the browser can use, by their names, for the candidate to choose from.
 *
 * @param chosen called after a choice.
 */
export function createDeviceChooser(t: CheckTexts, { audio, video }: WantedDevices, chosen: (kind: MediaDeviceKind) => void) {
  const element = createElement('div', { class: 'mt-3 grid gap-3 sm:grid-cols-2 empty:hidden', 'data-devices': true })
  const hasOutputs = 'setSinkId' in HTMLMediaElement.prototype
  const kinds = [video && 'videoinput', audio && 'audioinput', audio && hasOutputs && 'audiooutput'] as const

  /** @param inUse ids of the open devices. Browsers reveal the names of devices only after one was opened. */
  async function show(inUse: readonly (string | undefined)[]): Promise<void> {
    const listed = await navigator.mediaDevices.enumerateDevices().catch(() => null)
    if (!listed) return element.replaceChildren(createElement('p', { class: 'hint' }, t.text('choose.unlisted')))
    const lists = kinds.flatMap((kind) => {
      const devices = listed.filter((device) => device.kind === kind && device.deviceId !== '')
      return kind && devices.length > 0 ? [listOf(kind, devices, inUse)] : []
    })
    const focused = element.contains(document.activeElement) ? document.activeElement!.getAttribute('name') : null
    element.replaceChildren(...lists)
    if (focused) element.querySelector<HTMLElement>(`[name="${focused}"]`)?.focus()
  }

  function listOf(kind: MediaDeviceKind, devices: MediaDeviceInfo[], inUse: readonly (string | undefined)[]): HTMLElement {
    const current = devices.find(({ deviceId }) => inUse.includes(deviceId))?.deviceId ?? readChosen()[kind]
    const options = devices.map(({ deviceId, label }, i) =>
      createElement(
        'option',
        { value: deviceId, selected: deviceId === current },
        label || t.text('choose.unnamed', { number: i + 1 }),
      ),
    )
    const list = createElement('select', { class: 'select w-full', name: kind }, ...options)
    list.addEventListener('change', () => {
      choose(kind, list.value)
      chosen(kind)
    })
    return createElement('label', { class: 'text-sm font-medium' }, t.text(LABELS[kind]), list)
  }

  return { element, show }
}
