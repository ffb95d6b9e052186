import { expect, it } from 'vitest'
import { makeSpoken } from '../support/grading.ts'
import { isRecognizerInstalled, speak, startRecognizer } from '../support/recognizer.ts'
import { runSweep } from '../support/run-sweep.ts'
import { LONG } from '../support/scale.ts'
import { startServiceForTest } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

const SENTENCES = ['the doctor will see you in the morning', 'please wait for the train to london']
/** Maximum seconds between the real and the recognized start of a sentence. */
const TOLERANCE = 0.5
/** Start of the first sentence in seconds, after silence. */
const FIRST_AT = 1

it.runIf(LONG && isRecognizerInstalled)("recognizes the words of a candidate's recording, with their times", async () => {
  const recognizer = await startRecognizer()
  const service = await startServiceForTest({ TRANSCRIBE_URL: recognizer.url, TRANSCRIBE_MODEL: 'pocketsphinx' })
  try {
    const { submissionId } = await makeSpoken(service, [await speak(SENTENCES)], 1, { transcriptionHost: recognizer.host })
    await runSweep(service, ['queue_transcripts'])
    const { text, segments, language } = await waitUntil('the transcript', async () => {
      const found = await service.db.transcript.findFirst({ where: { media: { submissionId } } })
      return found?.state === 'ready' ? found : undefined
    })
    process.stdout.write(`recognized: ${JSON.stringify(segments)}\n`)
    expect([language, text.split('\n')]).toEqual(['en', SENTENCES])
    const [first, second] = (segments as [number, number, string, number][]).map(([from]) => from / 1_000)
    expect(Math.abs(first! - FIRST_AT)).toBeLessThan(TOLERANCE)
    expect(second! - first!).toBeGreaterThan(2)
  } finally {
    recognizer.close()
  }
})
