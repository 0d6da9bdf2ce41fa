@echo off
rem Makes a double click on *.coffer open the window, for this user alone. Run it again after moving the folder.
rem associate.cmd /remove takes it away again.
set classes=HKCU\Software\Classes
if /i "%~1"=="/remove" goto remove
reg add "%classes%\Coffer.Container" /ve /d "Encrypted container" /f >nul || goto failed
reg add "%classes%\Coffer.Container\DefaultIcon" /ve /d "\"%~dp0coffer-window.exe\",0" /f >nul || goto failed
reg add "%classes%\Coffer.Container\shell\open\command" /ve /d "\"%~dp0coffer-window.exe\" \"%%1\"" /f >nul || goto failed
reg add "%classes%\.coffer" /ve /d "Coffer.Container" /f >nul || goto failed
rem Images have other programs too: for them Coffer is only offered.
reg add "%classes%\.img\OpenWithProgids" /v "Coffer.Container" /t REG_SZ /d "" /f >nul || goto failed
echo Containers now open with Coffer.
exit /b 0
:remove
reg delete "%classes%\Coffer.Container" /f >nul 2>&1
reg delete "%classes%\.coffer" /f >nul 2>&1
reg delete "%classes%\.img\OpenWithProgids" /v "Coffer.Container" /f >nul 2>&1
echo Containers do not open with Coffer any more.
exit /b 0
:failed
echo The registry could not be changed.
exit /b 1
