// Browsers keep modules and WebAssembly from a page that is opened as a file, so this is all
// that runs then: it says what to do.
if (location.protocol === 'file:') {
  document.getElementById('boot-status').textContent = 'A browser does not run kir from a file. Put this directory on any host of files, ' +
    'or run “python3 -m http.server” in it and open http://localhost:8000.';
}
