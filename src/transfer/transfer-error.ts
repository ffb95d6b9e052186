/** Why an export or import was refused, as a sentence for the operator. */
export class TransferError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'TransferError'
  }
}
