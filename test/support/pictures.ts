import { crc32, deflateSync } from 'node:zlib'
import { addPicture } from '../../src/domain/assets/add-picture.ts'
import { asOperator } from './portal.ts'
import type { Service } from './service.ts'

const chunk = (type: string, content: Buffer): Buffer => {
  const numberOf = (value: number) => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return bytes
  }
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), content])
  return Buffer.concat([numberOf(content.length), typed, numberOf(crc32(typed))])
}

/** Creates a PNG with only the parts that the service reads. @param told text of its metadata. @param seed makes its content different. */
export function png(width = 40, height = 30, { told = '', seed = '' } = {}): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width)
  head.writeUInt32BE(height, 4)
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', head),
    ...(told ? [chunk('tEXt', Buffer.from(told))] : []),
    chunk('IDAT', Buffer.from(seed)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Creates a black PNG that browsers can draw, too. */
export function blackPng(width: number, height: number): Buffer {
  const [none, whole] = [png(width, height), Buffer.from([8, 0, 0, 0, 0])]
  const head = Buffer.concat([none.subarray(16, 24), whole])
  const lines = deflateSync(Buffer.alloc(height * (width + 1)))
  return Buffer.concat([none.subarray(0, 8), chunk('IHDR', head), chunk('IDAT', lines), chunk('IEND', Buffer.alloc(0))])
}

/** Adds a picture to an organization, a different one with each call. @returns its id. */
export const makePicture = (service: Service, organizationId: string): Promise<string> =>
  addPicture(asOperator(service, { id: organizationId, name: '' }), png(40, 30, { seed: service.deps.newId() }))
