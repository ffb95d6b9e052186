import { hash } from 'node:crypto'
import { MAX_PART_BYTES } from '../../src/domain/limits.ts'
import { joinRecording, type ScanFile } from '../../src/domain/submissions/media/join-recording.ts'
import { remuxInProcess } from '../../src/media/remux-in-process.ts'
import { makeDefined } from './kinds.ts'
import type { Service } from './service.ts'
import { openTab } from './taking.ts'

type Spec = { groups: string[]; most: number }

export const sha256Of = (content: Uint8Array): string => hash('sha256', content, 'hex')

/** Creates a candidate with an open question that is answered with files. */
export async function makeTakingFiles(service: Service, spec: Spec, of: Parameters<typeof makeDefined>[2] = {}) {
  const made = await makeDefined(service, [{ responseType: 'file', spec, key: {} }], of)
  const { candidate } = made
  await made.start()
  const tab = await openTab(service, candidate)
  await candidate.press('open', { number: '1' })
  const session = `${candidate.path}/session`
  const post = (path: string, body: object = {}) => service.http().post(`${session}/${path}`).set('x-tab', tab).send(body)
  const begin = (name: string, bytes: number, parts = Math.ceil(bytes / MAX_PART_BYTES)) =>
    post('questions/1/files', { name, bytes, parts })
  const putPart = (mediaId: string, number: number, content: Buffer) =>
    service
      .http()
      .put(`${session}/media/${mediaId}/parts/0/${number}`)
      .set({ 'x-tab': tab, 'content-type': 'application/octet-stream' })
      .send(content)
  const media = (id: string) => service.db.mediaFile.findUniqueOrThrow({ where: { id } })
  return {
    ...made,
    tab,
    session,
    post,
    begin,
    putPart,
    media,
    /** Sends a whole file. @returns its id. */
    async send(name: string, content: Buffer): Promise<string> {
      const { mediaId } = (await begin(name, content.length)).body
      for (let number = 0; number * MAX_PART_BYTES < content.length; number++)
        await putPart(mediaId, number, content.subarray(number * MAX_PART_BYTES, (number + 1) * MAX_PART_BYTES))
      await post(`media/${mediaId}/complete`, { segments: [Math.ceil(content.length / MAX_PART_BYTES)] })
      return mediaId
    },
    /** Joins the parts of a file, like its job. @returns the state of the file. */
    async join(mediaId: string, scanFile?: ScanFile): Promise<string> {
      const { organizationId, key } = await media(mediaId)
      await joinRecording(service.system, { mediaId, organizationId, key }, { remux: remuxInProcess, scanFile })
      return (await media(mediaId)).state
    },
    answer: async () => (await service.db.answerAttempt.findFirst({ where: { organizationId: made.organization.id } }))!,
  }
}
