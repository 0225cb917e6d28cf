/** Names that agents have for parts of an edit. */
export const PATHS = ['file_path', 'filePath', 'filepath', 'path', 'notebook_path', 'absolute_path']
export const OLD = ['old_string', 'oldString', 'old_str', 'oldText', 'before']
export const NEW = ['new_string', 'newString', 'new_str', 'newText', 'after']
export const WHOLE = ['content', 'file_text', 'new_source']
