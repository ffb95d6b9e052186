import { expect, it } from 'vitest'
import { listenForSilence } from '../../../../../src/interfaces/candidate/browser/devices/silence.ts'

it('reports silence once, after 2.5 seconds, and every sound', () => {
  const listen = listenForSilence(0)
  const noticed = (
    [
      [100, 0.5],
      [2_600, 0.01],
      [2_601, 0.01],
      [2_700, 0],
      [2_800, 0.02],
      [2_900, 0.3],
      [5_401, 0],
    ] as const
  ).map(([now, loudness]) => listen(now, true, loudness))
  expect(noticed).toEqual(['heard', null, 'silent', null, 'heard', 'heard', 'silent'])
})

it('reports nothing while the meter is stopped, and restarts when it runs', () => {
  const listen = listenForSilence(0)
  for (const now of [100, 3_000, 60_000]) expect(listen(now, false, 0)).toBeNull()
  expect(listen(62_500, true, 0)).toBeNull()
  expect(listen(62_501, true, 0)).toBe('silent')
})
