import { expect, it } from 'vitest'
import { FILE_PART_BYTES } from '../../../../../src/domain/limits.ts'
import { addParts } from '../../../../../src/interfaces/candidate/browser/session/add-parts.ts'
import { advance, beginRecording } from '../../../../../src/interfaces/candidate/browser/session/recording.ts'

const FILE = new Blob([new Uint8Array(2 * FILE_PART_BYTES + 1)])

/** @param afterStored is called after each stored part. */
function takeParts(afterStored: () => void = () => {}) {
  const steps: string[] = []
  const recording = beginRecording('a', 'answer', Infinity)
  const store = {
    async put({ number, bytes, end }: { number: number; bytes: ArrayBuffer; end: number }) {
      steps.push(`store ${number}: ${bytes.byteLength} up to ${end}`)
      afterStored()
    },
  }
  const parts = addParts(
    store,
    (one, happening) => Object.assign(one, advance(one, happening)[0]),
    (_, { number }) => void steps.push(`send ${number}`),
  )
  return { ...parts, recording, steps }
}

it('stores all parts of a file before it sends the first', async () => {
  const { addFile, recording, steps } = takeParts()
  await addFile(recording, FILE)
  expect(steps).toEqual([
    ...['store 0: 250000 up to 250000', 'store 1: 250000 up to 500000', 'store 2: 1 up to 500001'],
    ...['send 0', 'send 1', 'send 2'],
  ])
})

it('sends nothing of a file that is removed while it is stored', async () => {
  const taking = takeParts(() => Object.assign(taking.recording, { state: 'failed' }))
  await taking.addFile(taking.recording, FILE)
  expect(taking.steps).toEqual(['store 0: 250000 up to 250000'])
})

it('sends each part of a recording at once', async () => {
  const { add, recording, steps } = takeParts()
  for (const end of [2_000, 4_000]) await add(recording, 0, new ArrayBuffer(5), end)
  expect(steps).toEqual(['store 0: 5 up to 2000', 'send 0', 'store 1: 5 up to 4000', 'send 1'])
})
