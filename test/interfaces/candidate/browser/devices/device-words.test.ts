import { expect, it } from 'vitest'
import { type Failure, formatDeviceFailure } from '../../../../../src/interfaces/candidate/browser/devices/device-words.ts'
import { t } from '../../../../support/browser-texts.ts'

const words = (name: string, of: Partial<Failure> = {}) =>
  formatDeviceFailure(t, {
    name,
    device: 'both',
    present: { camera: true, microphone: true },
    agent: 'Chrome/130 Safari/537.36',
    ...of,
  })

it.each(['NotFoundError', 'OverconstrainedError'])('names the missing device: %s', (name) => {
  const microphone = { camera: false, microphone: true }
  expect(words(name, { present: microphone })).toMatch(/^No camera was found\. Connect it/)
  expect(words(name, { present: { camera: true, microphone: false } })).toMatch(/^No microphone was found\./)
  expect(words(name, { present: { camera: false, microphone: false } })).toMatch(
    /^No camera and no microphone was found\. Connect them/,
  )
  expect(words(name, { device: 'camera', present: microphone })).toMatch(/^No camera was found\./)
  expect(words(name, { device: 'microphone', present: microphone })).not.toContain('camera')
})

it('names the device that does not fit', () => {
  expect(words('OverconstrainedError', { constraint: 'width' })).toMatch(
    /^Your camera can’t record in the way that is needed \(width\)\./,
  )
  expect(words('OverconstrainedError', { constraint: 'sampleRate' })).toMatch(/^Your microphone can’t record/)
  expect(words('OverconstrainedError', { device: 'camera', present: null })).toMatch(/^Your camera can’t record/)
})

it('asks nobody to connect a screen', () => {
  expect(words('NotFoundError', { device: 'screen' })).toMatch(/^There was no screen to share\./)
  expect(words('NotFoundError', { device: 'screen' })).not.toContain('Connect')
})

it("shows an unknown error by the browser's name", () => {
  for (const name of ['TypeError', 'constructor']) expect(words(name)).toContain(`could not be used (${name})`)
  expect(words('')).toContain('could not be used. Try again')
})
